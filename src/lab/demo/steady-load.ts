// New connections at a steady rate, and a few that stay open, while something is changed under them.
import type { Answer, Target } from '../pods/answer.ts';
import type { Client, OpenConnection } from '../pods/client.ts';

export interface SteadyLoad {
  /** Waits for what is under way and gives everything that was answered. */
  stop(): Promise<LoadReport>;
}

export interface LoadReport {
  /** New connections, each with its answer. */
  readonly answers: readonly Answer[];
  /** Connections that were open all the time, asked again at the end: how many still answered. */
  readonly kept: { readonly asked: number; readonly alive: number };
}

const INTERVAL_MS = 10;

/** Asks by a new TCP connection a hundred times a second, and keeps `keep` connections open. */
export async function startSteadyLoad(client: Client, target: Target, keep: number): Promise<SteadyLoad> {
  const open: OpenConnection[] = await Promise.all(Array.from({ length: keep }, () => client.open(target)));
  const asked: Promise<Answer>[] = [];
  const timer = setInterval(() => asked.push(client.ask({ ...target, protocol: 'TCP' })), INTERVAL_MS);
  return {
    async stop() {
      clearInterval(timer);
      const answers = await Promise.all(asked);
      const again = await Promise.all(open.map((connection) => connection.ask()));
      for (const connection of open) connection[Symbol.dispose]();
      return {
        answers,
        kept: { asked: open.length, alive: again.filter(({ kind }) => kind === 'answered').length },
      };
    },
  };
}
