// The lab's own certificate authority: X.509 v3 with EC P-256 keys (RFC 5280), made without any other program.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { addressBytes } from '../../../model/address.ts';
import { bits, boolean, identifier, integer, octets, sequence, setOf, tagged, time, utf8 } from './der.ts';

/** PEM texts. */
export interface KeyAndCertificate {
  readonly certificate: string;
  readonly key: string;
}

export interface CertificateRequest {
  /** The user's name, for a client. */
  readonly commonName: string;
  /** The user's groups, for a client. */
  readonly organizations?: readonly string[];
  readonly purpose: 'server' | 'client';
  readonly dnsNames?: readonly string[];
  readonly addresses?: readonly string[];
}

export interface Authority {
  /** The authority's certificate in PEM. */
  readonly certificate: string;
  issue(request: CertificateRequest): KeyAndCertificate;
}

export interface AuthorityOptions {
  readonly commonName?: string;
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

const ECDSA_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const SUBJECT_KEY_ID = '2.5.29.14';
const KEY_USAGE = '2.5.29.15';
const ALTERNATIVE_NAMES = '2.5.29.17';
const BASIC_CONSTRAINTS = '2.5.29.19';
const AUTHORITY_KEY_ID = '2.5.29.35';
const EXTENDED_USAGE = '2.5.29.37';
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const DIGITAL_SIGNATURE = 0x80;
const SIGN_CERTIFICATES = 0x04;

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const ALGORITHM = sequence(identifier(ECDSA_SHA256));

function distinguishedName(commonName: string, organizations: readonly string[] = []): Uint8Array {
  const part = (type: string, text: string): Uint8Array => setOf(sequence(identifier(type), utf8(text)));
  return sequence(...organizations.map((name) => part(ORGANIZATION, name)), part(COMMON_NAME, commonName));
}

function extension(type: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(identifier(type), ...(critical ? [boolean(true)] : []), octets(value));
}

const spkiOf = (key: KeyObject): Uint8Array => key.export({ type: 'spki', format: 'der' });
const keyId = (key: KeyObject): Uint8Array =>
  createHash('sha256').update(spkiOf(key)).digest().subarray(0, 20);

function alternativeNames({ dnsNames = [], addresses = [] }: CertificateRequest): Uint8Array {
  return sequence(
    ...dnsNames.map((name) => tagged(0x82, Buffer.from(name, 'latin1'))),
    ...addresses.map((address) => tagged(0x87, addressBytes(address))),
  );
}

function pem(der: Uint8Array): string {
  const lines = Buffer.from(der).toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

interface Certified {
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extensions: readonly Uint8Array[];
  readonly now: number;
}

function certify({ issuer, subject, publicKey, signer, extensions, now }: Certified): string {
  const serial = randomBytes(16);
  // An hour back, for machines whose clocks differ.
  const validity = sequence(time(now - HOUR_MS), time(now + YEAR_MS));
  const body = sequence(
    tagged(0xa0, integer(Uint8Array.of(2))),
    integer(serial),
    ALGORITHM,
    issuer,
    validity,
    subject,
    spkiOf(publicKey),
    tagged(0xa3, sequence(...extensions)),
  );
  return pem(sequence(body, ALGORITHM, bits(sign('sha256', body, signer))));
}

const newKeys = (): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

/** Makes an authority with a fresh key, valid for a year. */
export function createAuthority({ commonName = 'pointsman-lab', now }: AuthorityOptions = {}): Authority {
  const root = newKeys();
  const rootName = distinguishedName(commonName);
  const authorityId = extension(AUTHORITY_KEY_ID, sequence(tagged(0x80, keyId(root.publicKey))));
  const certificate = certify({
    issuer: rootName,
    subject: rootName,
    publicKey: root.publicKey,
    signer: root.privateKey,
    now: now ?? Date.now(),
    extensions: [
      extension(BASIC_CONSTRAINTS, sequence(boolean(true)), true),
      extension(KEY_USAGE, bits(Uint8Array.of(DIGITAL_SIGNATURE | SIGN_CERTIFICATES), 2), true),
      extension(SUBJECT_KEY_ID, octets(keyId(root.publicKey))),
    ],
  });
  return {
    certificate,
    issue(request) {
      const own = newKeys();
      const usage = request.purpose === 'server' ? SERVER_AUTH : CLIENT_AUTH;
      const named = (request.dnsNames ?? []).length + (request.addresses ?? []).length > 0;
      return {
        certificate: certify({
          issuer: rootName,
          subject: distinguishedName(request.commonName, request.organizations),
          publicKey: own.publicKey,
          signer: root.privateKey,
          now: now ?? Date.now(),
          extensions: [
            extension(BASIC_CONSTRAINTS, sequence(), true),
            extension(KEY_USAGE, bits(Uint8Array.of(DIGITAL_SIGNATURE), 7), true),
            extension(EXTENDED_USAGE, sequence(identifier(usage))),
            authorityId,
            ...(named ? [extension(ALTERNATIVE_NAMES, alternativeNames(request))] : []),
          ],
        }),
        key: own.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
  };
}
