/**
 * The signature of a webhook, the same in both directions: HMAC-SHA256 with the shared secret over the
 * timestamp, a dot and the bytes of the body.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Header names as they are sent; compared in lower case. */
export const HEADERS = {
  id: 'Ralph-Id',
  timestamp: 'Ralph-Timestamp',
  signature: 'Ralph-Signature',
} as const;

/** How far a timestamp may lie from now, either way. Milliseconds. */
export const WINDOW_MS = 5 * 60_000;

/** `v1=` and the signature in hex. `timestamp`: epoch seconds as text, exactly as it stands in its header. */
export function signatureOf(secret: string, timestamp: string, body: string | Uint8Array): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

export interface Signed {
  timestamp: string | undefined;
  signature: string | undefined;
  body: Uint8Array;
}

/** Whether the signature is right and its time is now. Takes as long for a wrong one as for a right one. */
export function isSigned({ timestamp, signature, body }: Signed, secret: string, now: number): boolean {
  if (timestamp === undefined || signature === undefined || !/^\d{1,12}$/.test(timestamp)) return false;
  const wanted = Buffer.from(signatureOf(secret, timestamp, body));
  const given = Buffer.from(signature);
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return false;
  return Math.abs(now - Number(timestamp) * 1000) <= WINDOW_MS;
}
