// Flags only: the proxy, as kube-proxy is called. Else the first word is a command.
import type { Terminal } from './terminal.ts';

/** Resolves with the exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first] = args;
  // The daemon stays small: it loads nothing that only commands need, and they nothing of the daemon.
  if (first === undefined || first.startsWith('-')) {
    const { runProxyCommand } = await import('./proxy-command.ts');
    return runProxyCommand(args, terminal);
  }
  const { runCommands } = await import('./commands.ts');
  return runCommands(args, terminal);
}
