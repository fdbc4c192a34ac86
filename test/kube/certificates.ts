// A throw-away CA with server and client certificates, made by openssl's command line.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

export interface Authority {
  /** The CA's certificate, PEM. */
  readonly certificate: string;
  /** A pair signed by it. `names` as openssl writes them: `IP:127.0.0.1,DNS:localhost`. */
  issue(commonName: string, names: string): KeyPair;
  [Symbol.dispose](): void;
}

export function createAuthority(name: string): Authority {
  const folder = mkdtempSync(join(tmpdir(), `pt-${process.pid}-ca-`));
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  };
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.crt',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  );
  let serial = 0;
  return {
    certificate: read('ca.crt'),
    issue(commonName, names) {
      serial += 1;
      openssl(
        'req',
        ...newKey,
        '-keyout',
        'leaf.key',
        '-out',
        'leaf.csr',
        '-subj',
        `/O=system:masters/CN=${commonName}`,
      );
      writeFileSync(join(folder, 'names'), `subjectAltName=${names}\n`);
      const signing = [
        '-CA',
        'ca.crt',
        '-CAkey',
        'ca.key',
        '-set_serial',
        String(serial),
        '-extfile',
        'names',
      ];
      openssl('x509', '-req', '-in', 'leaf.csr', '-out', 'leaf.crt', '-days', '2', ...signing);
      return { certificate: read('leaf.crt'), key: read('leaf.key') };
    },
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
