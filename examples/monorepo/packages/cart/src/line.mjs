/** One line of a cart: so many pieces at this price in cents. */
export const line = (pieces, price) => ({ pieces, price });
