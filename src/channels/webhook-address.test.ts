/** Which addresses a webhook may lead to. */
import type { LookupFunction } from 'node:net';
import { expect, test } from 'vitest';
import { classOf, guardedLookup, refusedHost } from './webhook-address.ts';

test.each([
  ['public', ['8.8.8.8', '2606:4700::1111', '172.15.0.1', '172.32.0.1', '11.0.0.1']],
  [
    'private',
    ['127.0.0.1', '127.9.9.9', '10.0.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1', '::1', 'fd12::1'],
  ],
  [
    'never',
    [
      ...['0.0.0.0', '169.254.169.254', '100.100.100.200', '224.0.0.1', '255.255.255.255', '::', 'fe80::1'],
      ...['fd00:ec2::254', 'ff02::1', '64:ff9b::7f00:1', '2002:7f00:1::', 'not an address', ''],
    ],
  ],
] as const)('%s addresses', (wanted, addresses) => {
  expect(addresses.filter((address) => classOf(address) !== wanted)).toEqual([]);
});

test('an IPv4 address in IPv6 clothes is what it is', () => {
  const wrapped = ['127.0.0.1', '169.254.169.254', '8.8.8.8'].map((address) => classOf(`::ffff:${address}`));
  expect(wrapped).toEqual(['private', 'never', 'public']);
});

test.each([
  ['http://0x7f.1/', false],
  ['http://2852039166/', true],
  ['http://[::ffff:169.254.169.254]/', true],
  ['http://[::1]/', false],
  ['https://example.org/', false],
] as const)('however %s is spelled, its address counts', (url, refused) => {
  expect(refusedHost(new URL(url)) !== null).toBe(refused);
});

const leadsTo =
  (...addresses: string[]): LookupFunction =>
  (_host, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

const look = (lookup: LookupFunction, host: string, all: boolean) =>
  new Promise((done) => {
    guardedLookup(lookup)(host, { all }, (error, found) => done(error?.message ?? found));
  });

test('each look-up is checked by itself, so that a name cannot change in between', async () => {
  let looked = 0;
  const rebinds: LookupFunction = (host, options, done) => {
    looked += 1;
    leadsTo(looked === 1 ? '8.8.8.8' : '127.0.0.1')(host, options, done);
  };
  expect(await look(rebinds, 'hooks.example.org', false)).toBe('8.8.8.8');
  expect(await look(rebinds, 'hooks.example.org', false)).toContain('is not a public address');
});

test('one address that is not public refuses all of them', async () => {
  const mixed = leadsTo('8.8.8.8', '10.0.0.1');
  for (const all of [true, false])
    expect(await look(mixed, 'hooks.example.org', all)).toContain('leads to 10.0.0.1');
  expect(await look(leadsTo('8.8.8.8', '8.8.4.4'), 'hooks.example.org', true)).toHaveLength(2);
  expect(await look(leadsTo(), 'hooks.example.org', false)).toContain('has no address');
});
