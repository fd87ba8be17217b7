/**
 * Where a webhook may lead. What a person wrote as an address of this machine or of a private network is
 * meant; a name that merely leads there is not, because whoever owns the name could then make this program
 * talk to services behind the firewall. The check stands where the connection is made, so that a name cannot
 * be looked up twice with two results.
 */
import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export type AddressClass = 'public' | 'private' | 'never';

const PRIVATE = listed([
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['::1', 128],
  ['fc00::', 7],
]);

/** Link-local with its metadata services, nobody, groups, reserved ranges; and every wrapping of an IPv4 address. */
const NEVER = listed([
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 128],
  ['fd00:ec2::254', 128],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['2002::', 16],
]);

function listed(ranges: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [net, prefix] of ranges) list.addSubnet(net, prefix, isIP(net) === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/** Of an IP address as text. An IPv4 address inside an IPv6 one is judged as what it is. */
export function classOf(address: string): AddressClass {
  const family = isIP(address);
  if (family === 0) return 'never';
  const type = family === 6 ? 'ipv6' : 'ipv4';
  if (NEVER.check(address, type)) return 'never';
  return PRIVATE.check(address, type) ? 'private' : 'public';
}

/** The host of a URL as a socket wants it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Why nothing may be sent there, as it is written; null where it may. */
export function refusedHost(url: URL): string | null {
  const host = hostOf(url);
  if (isIP(host) === 0 || classOf(host) !== 'never') return null;
  return `${host} is a link-local, metadata or reserved address, to which nothing is sent`;
}

/** A name that belongs to this machine by its own words. */
function isLocalName(host: string): boolean {
  return /^(?:.+\.)?localhost\.?$/i.test(host);
}

/** What a look-up answers where no address may be connected to. Never retried. */
export class AddressRefused extends Error {
  constructor(host: string, address: string) {
    super(
      `${host} leads to ${address}, which is not a public address; write the address itself if it is meant`,
    );
    this.name = 'AddressRefused';
  }
}

/**
 * A `lookup` for sockets that answers allowed addresses only: public ones; for `localhost` those of this
 * machine. One address that is not allowed refuses the name as a whole.
 */
export function guardedLookup(lookup: LookupFunction = systemLookup as LookupFunction): LookupFunction {
  return (host, options, done) => {
    const wanted = isLocalName(host) ? 'private' : 'public';
    lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return done(error, '', 0);
      const addresses = Array.isArray(found) ? found : [{ address: found, family: isIP(found) }];
      const wrong = addresses.find(({ address }) => classOf(address) !== wanted);
      if (wrong) return done(new AddressRefused(host, wrong.address), '', 0);
      if (options.all) return done(null, addresses);
      const [first] = addresses;
      if (first === undefined) return done(new Error(`${host} has no address`), '', 0);
      done(null, first.address, first.family);
    });
  };
}
