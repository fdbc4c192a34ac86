// Opens a connection and agrees on its protocol: HTTP/2 where the server offers it.
import { checkServerIdentity, connect as connectTls, getCACertificates, type TLSSocket } from 'node:tls';
import type { ClientCertificate, ClusterAccess } from './access.ts';
import { type Connection, type TransportTiming, unreachable } from './connection.ts';
import { createHttp1Connection, type Http1Tls, hostOf, indicatedName, portOf } from './http1-connection.ts';
import { createHttp2Connection } from './http2-connection.ts';

/** What a connection was made with; when it changes, a new one is needed. */
export interface ConnectionIdentity {
  readonly authority: string | undefined;
  readonly certificate: ClientCertificate | undefined;
}

/** `onClose` is called once, when the connection is gone for good. Throws E_API_UNREACHABLE. */
export async function openConnection(
  { server, serverName, insecureSkipVerify }: ClusterAccess,
  { authority, certificate }: ConnectionIdentity,
  timing: TransportTiming,
  onClose: () => void,
): Promise<Connection> {
  if (server.protocol === 'http:') return createHttp1Connection(server, undefined, timing, onClose);
  const name = serverName ?? hostOf(server);
  const tls: Http1Tls = {
    ...(insecureSkipVerify ? {} : { ca: authority ?? systemAuthorities() }),
    ...(certificate === undefined ? {} : { cert: certificate.certificate, key: certificate.key }),
    rejectUnauthorized: !insecureSkipVerify,
    servername: indicatedName(name),
    checkServerIdentity: (_host, presented) => checkServerIdentity(name, presented),
    minVersion: 'TLSv1.2',
  };
  const socket = await handshake(server, tls, timing);
  if (socket.alpnProtocol === 'h2') return createHttp2Connection(server, socket, timing, onClose);
  socket.destroy();
  return createHttp1Connection(server, tls, timing, onClose);
}

/** Go programs trust what the system trusts; so do we, unless it has nothing. */
function systemAuthorities(): string[] {
  const found = getCACertificates('system');
  return found.length > 0 ? found : getCACertificates('bundled');
}

function handshake(server: URL, tls: Http1Tls, timing: TransportTiming): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let socket: TLSSocket;
    try {
      socket = connectTls({
        ...tls,
        host: hostOf(server),
        port: portOf(server),
        ALPNProtocols: ['h2', 'http/1.1'],
      });
    } catch (cause) {
      // Certificate and key were read between the two steps of a rotation.
      return reject(unreachable(server, cause));
    }
    const late = setTimeout(() => {
      socket.destroy(new Error(`no TLS connection in ${timing.connect / 1000} s`));
    }, timing.connect);
    socket.once('secureConnect', () => {
      clearTimeout(late);
      socket.removeListener('error', onError);
      socket.setNoDelay(true);
      resolve(socket);
    });
    const onError = (cause: Error): void => {
      clearTimeout(late);
      reject(unreachable(server, cause));
    };
    socket.on('error', onError);
  });
}
