// The present connection to the API server, with the present credentials. Both are replaced as they change or fail.
import { PointsmanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { ClusterAccess, Presented } from './access.ts';
import { type ConnectionIdentity, openConnection } from './connect.ts';
import type { Connection, TransportTiming, WireRequest, WireResponse } from './connection.ts';

export interface ChannelOptions {
  readonly access: ClusterAccess;
  readonly log: Logger;
  readonly timing: TransportTiming;
}

export interface Channel {
  /**
   * One exchange. It is repeated once with renewed credentials after a 401, and a GET once on a new connection if an
   * old one turned out dead. Throws E_API_UNREACHABLE, E_KUBECONFIG, E_CREDENTIAL_PLUGIN.
   */
  exchange(request: WireRequest, signal: AbortSignal | undefined): Promise<WireResponse>;
  close(): void;
}

export function createChannel({ access, log, timing }: ChannelOptions): Channel {
  const { server, credentials } = access;
  /** All that are not yet closed; those that were replaced may still carry a watch. */
  const open = new Set<Connection>();
  let current: { readonly connection: Connection; readonly identity: ConnectionIdentity } | undefined;
  let connecting:
    | { readonly promise: Promise<Connection>; readonly identity: ConnectionIdentity }
    | undefined;
  let closed = false;

  const refuseIfClosed = (): void => {
    if (closed) throw new PointsmanError('E_API_UNREACHABLE', `the client of ${server.origin} is closed`);
  };

  async function connectionFor(presented: Presented): Promise<Connection> {
    const identity = { authority: await access.authority?.read(), certificate: presented.certificate };
    refuseIfClosed();
    if (current?.connection.usable === true) {
      if (sameIdentity(current.identity, identity)) return current.connection;
      log.info('Certificates for the API server changed, connecting anew', { server: server.origin });
      current.connection.retire(timing.retire);
    }
    if (connecting !== undefined && sameIdentity(connecting.identity, identity)) return connecting.promise;
    const promise = connect(identity);
    const mine = { promise, identity };
    connecting = mine;
    try {
      return await promise;
    } finally {
      if (connecting === mine) connecting = undefined;
    }
  }

  async function connect(identity: ConnectionIdentity): Promise<Connection> {
    const connection = await openConnection(access, identity, timing, () => open.delete(connection));
    if (closed) connection.destroy();
    refuseIfClosed();
    log.debug(2, 'Connected to the API server', { server: server.origin, protocol: connection.protocol });
    open.add(connection);
    current = { connection, identity };
    return connection;
  }

  async function connected(presented: Presented): Promise<Connection> {
    try {
      return await connectionFor(presented);
    } catch (error) {
      // The cause may be half of a rotation: what was read from files is read again for the next attempt.
      credentials.refused(presented);
      access.authority?.expire();
      throw error;
    }
  }

  return {
    async exchange(request, signal) {
      let renewed = false;
      let reconnected = false;
      let presented = await credentials.present();
      for (;;) {
        const connection = await connected(presented);
        const { proven } = connection;
        const headers = { ...request.headers, ...presented.headers };
        let response: WireResponse;
        try {
          response = await connection.exchange({ ...request, headers }, signal);
        } catch (error) {
          const stale = proven && !connection.usable && request.method === 'GET' && signal?.aborted !== true;
          if (!stale || reconnected) throw error;
          reconnected = true;
          continue;
        }
        if (response.status !== 401 || renewed) return response;
        renewed = true;
        credentials.refused(presented);
        const again = await credentials.present();
        if (again === presented) return response;
        log.info('The API server refused the credentials, trying renewed ones', { server: server.origin });
        response.body.destroy();
        presented = again;
      }
    },
    close() {
      closed = true;
      for (const connection of [...open]) connection.destroy();
    },
  };
}

function sameIdentity(a: ConnectionIdentity, b: ConnectionIdentity): boolean {
  return (
    a.authority === b.authority &&
    a.certificate?.certificate === b.certificate?.certificate &&
    a.certificate?.key === b.certificate?.key
  );
}
