// `pointsman lab …`: the small cluster on one machine. What it is made of is loaded only when it is asked for.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { LabIo } from '../lab/commands/io.ts';
import type { Run } from './commands.ts';
import { endOnSignals } from './end-on-signals.ts';
import type { Terminal } from './terminal.ts';

interface Named {
  readonly name?: string;
}

export function addLabCommands(program: Command, run: Run): void {
  const lab = program.command('lab').description('the small cluster on one machine, for trying things out');
  const subcommand = (usage: string, description: string): Command =>
    lab
      .command(usage)
      .description(description)
      .option('--name <name>', 'the lab, when there are several (default: pointsman)');
  const act = async (
    work: (io: LabIo) => Promise<number>,
    signals?: readonly NodeJS.Signals[],
  ): Promise<void> => {
    using ending = endOnSignals(signals);
    run.exitCode = await work(labIo(run.terminal, ending.signal));
  };

  subcommand('up [flags...]', 'build a lab; flags after -- are for its Pointsmans')
    .option('--nodes <count>', 'how many nodes (default: 2)', nodeCount)
    .option('-f, --filename <file...>', 'manifests to apply once it is up')
    .option('--no-pointsman', 'nodes without a Pointsman')
    .action(async (flags: readonly string[], options: UpOptions) => {
      const { name, nodes, filename, pointsman } = options;
      const { labUp } = await import('../lab/commands/lab-up.ts');
      await act((io) =>
        labUp(
          {
            ...named({ name }),
            ...(nodes === undefined ? {} : { nodes }),
            ...(filename === undefined ? {} : { manifests: filename }),
            pointsman: pointsman && { flags },
          },
          io,
        ),
      );
    });
  subcommand('down', 'end a lab, or remove what a crashed one left')
    .option('--all', 'all labs of this machine')
    .action(async ({ name, all }: Named & { readonly all?: boolean }) => {
      const { labDown } = await import('../lab/commands/lab-down.ts');
      await act((io) => labDown({ ...named({ name }), all: all === true }, io));
    });
  subcommand('status', 'what the lab has and how it is')
    .addOption(new Option('-o, --output <format>', 'how to say it').choices(['text', 'json']).default('text'))
    .action(async ({ name, output }: Named & { readonly output: 'text' | 'json' }) => {
      const { labStatus } = await import('../lab/commands/lab-status.ts');
      await act((io) => labStatus({ ...named({ name }), output }, io));
    });
  subcommand('exec <part> <command...>', 'run a command in a Pod, a node or outside: exec POD -- COMMAND')
    .passThroughOptions()
    .action(async (part: string, words: readonly string[], { name }: Named) => {
      const { labExec } = await import('../lab/commands/lab-exec.ts');
      const command = words[0] === '--' ? words.slice(1) : words;
      await act((io) => labExec({ ...named({ name }), part, command }, io), ['SIGTERM']);
    });
  subcommand('kubectl [args...]', 'run kubectl against the lab')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (args: readonly string[], { name }: Named) => {
      const { labKubectl } = await import('../lab/commands/lab-exec.ts');
      await act((io) => labKubectl({ ...named({ name }), args }, io), ['SIGTERM']);
    });
}

interface UpOptions extends Named {
  readonly nodes?: number;
  readonly filename?: readonly string[];
  readonly pointsman: boolean;
}

const named = ({ name }: { readonly name?: string | undefined }): Named =>
  name === undefined ? {} : { name };

function nodeCount(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('It is no number of nodes.');
  return Number(text);
}

/** The lab prints lines. Programs that run in it get the terminal itself where there is one. */
export function labIo(terminal: Terminal, signal: AbortSignal): LabIo {
  return {
    out: (line) => terminal.out(`${line}\n`),
    err: (line) => terminal.err(`${line}\n`),
    signal,
    inherit: terminal.own,
  };
}
