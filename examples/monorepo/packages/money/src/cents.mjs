/** A price such as '12.50' in cents. */
export function cents(price) {
  const [whole, part = ''] = price.split('.');
  return Number(whole) * 100 + Number(part.padEnd(2, '0'));
}
