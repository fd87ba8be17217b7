/**
 * Secrets that are known by their value: variables of the environment whose name says so, and what the
 * configuration holds. Here stands which value is one, and in which spellings programs print it.
 */

/** A secret of this run; the name is what is shown in its place. */
export interface KnownSecret {
  name: string;
  value: string;
}

const NAME = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$|(?:^|_)(?:PASSWORD|SECRET)_/i;
/** Shorter ones would be found in everything. */
const SHORTEST = 8;
const LONGEST = 16 * 1024;
/** A value of one kind of character is more likely a word or a number than a secret, if it is no longer. */
const WORD = /^(?:[a-z]{1,11}|[A-Z]{1,11}|[A-Z]?[a-z]{1,11}|[0-9.,:-]{1,11})$/;
/** It says where something lies; a URL with a password in it does not only say that. */
const PLACE = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:[\\/]|[a-z][a-z0-9+.-]*:\/\/[^@]*$)/i;
const FEWEST_DIFFERENT = 5;

/** The variables of an environment that hold a secret, as their names tell. */
export function secretsOfEnv(env: Record<string, string | undefined>): KnownSecret[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && NAME.test(name) && isSecretValue(value) && !isPlace(value.trim())
      ? [{ name, value }]
      : [],
  );
}

/** Base64 may begin with a slash as well, and so may a password. */
function isPlace(value: string): boolean {
  if (!PLACE.test(value) || !value.startsWith('/')) return PLACE.test(value);
  if (!value.includes('/', 1)) return /^[A-Za-z._/-]*$/.test(value);
  return !/^[A-Za-z0-9+/=]*$/.test(value) || !isRandom(value.replace(/[/=]/g, ''));
}

/** Words change from small letters to others where one ends; what was drawn by lot does so all the time. */
function isRandom(text: string): boolean {
  const changes = text.match(/(?<=[a-z])[A-Z0-9+]|(?<=[A-Z])[0-9+]|(?<=[0-9+])[A-Za-z]/g) ?? [];
  return text.length >= 16 && changes.length / text.length > 0.25;
}

/** Whether it can be told from ordinary text. */
export function isSecretValue(value: string): boolean {
  const text = value.trim();
  return (
    text.length >= SHORTEST &&
    text.length <= LONGEST &&
    !WORD.test(text) &&
    new Set(text).size >= FEWEST_DIFFERENT
  );
}

/** Each way in which a program may print it: as it is, in JSON, in JSON within JSON, in a URL; as text and as bytes. */
export function spellingsOf({ value }: KnownSecret): string[] {
  const text = value.trim();
  const inJson = jsonOf(text);
  const url = inUrl(text);
  const json = [inJson, htmlSafe(inJson), asciiOnly(inJson)];
  const plain = [text, ...[...json, ...json.map(slashed)].flatMap((one) => [one, jsonOf(one), upper(one)])];
  const strict = strictUrl(url);
  const urls = [url, url.replaceAll('%20', '+'), strict, inForm(strict)].flatMap((one) => [one, lower(one)]);
  return [...new Set([...plain, ...plain.map(bytesOf), ...urls])];
}

const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1);

/** As Go writes JSON. */
const htmlSafe = (json: string): string => json.replace(/[<>&]/g, unicodeEscape);

/** As Python writes JSON. */
const asciiOnly = (json: string): string => json.replace(/[^\x20-\x7e]/g, unicodeEscape);

/** As PHP writes JSON. */
const slashed = (json: string): string => json.replaceAll('/', '\\/');

/** Programs differ in how they write the digits of an escape. */
const lower = (url: string): string => url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
const upper = (json: string): string =>
  json.replace(/(\\u)([0-9a-f]{4})/g, (_, mark: string, digits: string) => mark + digits.toUpperCase());

/** Some programs escape these as well. */
const strictUrl = (url: string): string =>
  url.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** As a form is sent. */
const inForm = (url: string): string =>
  url.replaceAll('%20', '+').replaceAll('%2A', '*').replaceAll('~', '%7E');

const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return text; // half a character has no spelling in a URL
  }
}

/** Its UTF-8, a character for each byte. */
function bytesOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}
