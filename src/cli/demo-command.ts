// `pointsman demo`: a lab, Services, connections, a table of who answered.
import type { Command } from 'commander';
import type { Logger } from '../base/log.ts';
import type { Run } from './commands.ts';
import { endOnSignals } from './end-on-signals.ts';
import type { Terminal } from './terminal.ts';

interface DemoFlags {
  readonly once?: boolean;
  readonly name?: string;
  readonly verbose?: boolean;
}

export function addDemoCommand(program: Command, run: Run): void {
  program
    .command('demo')
    .description('build a lab and show Services at work in it; needs root')
    .option('--once', 'show everything, clean up and end')
    .option('--name <name>', 'what the lab is called (default: demo)')
    .action(async ({ once = false, name, verbose = false }: DemoFlags) => {
      const { runDemo } = await import('../lab/demo/demo.ts');
      using ending = endOnSignals();
      run.exitCode = await runDemo(
        { once, ...(name === undefined ? {} : { name }) },
        {
          out: (line) => run.terminal.out(`${line}\n`),
          log: await demoLog(run.terminal, verbose),
          signal: ending.signal,
        },
      );
    });
}

/** What goes wrong is always said; what goes on besides, only on request. */
async function demoLog(terminal: Terminal, verbose: boolean): Promise<Logger> {
  const { createLog } = await import('../observe/log.ts');
  const log = createLog({
    format: 'text',
    verbosity: verbose ? 2 : 0,
    pid: process.pid,
    now: () => new Date(),
    write: (line) => terminal.err(line),
  }).room('lab');
  return verbose ? log : { ...log, info() {} };
}
