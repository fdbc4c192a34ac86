// Certificates and keys, checked where they come in: a bad one is a line about a field, not a failed handshake later.
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

const CERTIFICATE = /-----BEGIN (?:TRUSTED )?CERTIFICATE-----[\s\S]+?-----END (?:TRUSTED )?CERTIFICATE-----/g;

/** Throws if the text holds no certificate or one that cannot be read. */
export function checkCertificates(pem: string): void {
  const found = pem.match(CERTIFICATE);
  if (found === null) throw new Error('it holds no PEM certificate (-----BEGIN CERTIFICATE-----)');
  for (const [index, text] of found.entries()) {
    try {
      new X509Certificate(text);
    } catch {
      throw new Error(`certificate ${index + 1} of ${found.length} in it is damaged`);
    }
  }
}

/** Throws if the text holds no private key. */
export function checkKey(pem: string): void {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw new Error('it holds no PEM private key (-----BEGIN PRIVATE KEY-----)');
  }
}

/** Throws if key and certificate do not belong together. */
export function checkPair(certificate: string, key: string): void {
  checkCertificates(certificate);
  checkKey(key);
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    const reason =
      cause instanceof Error && /mismatch/i.test(cause.message)
        ? 'they do not belong together'
        : 'they cannot be used';
    throw new Error(`client certificate and key: ${reason}`, { cause });
  }
}
