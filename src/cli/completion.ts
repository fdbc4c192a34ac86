// Completion scripts for shells, made from the commands and flags themselves.
import { PointsmanError } from '../base/errors.ts';

/** What may follow some words: `['lab', 'up']` → `--nodes`. */
export interface CompletionWords {
  readonly after: readonly string[];
  readonly words: readonly string[];
}

export const SHELLS: readonly string[] = ['bash', 'zsh', 'fish'];

/** A script to be evaluated by the shell. Throws E_USAGE for a shell that is none of SHELLS. */
export function completionScript(shell: string, table: readonly CompletionWords[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(table);
    case 'zsh':
      return `autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(table)}`;
    case 'fish':
      return fishScript(table);
    default:
      throw new PointsmanError('E_USAGE', `there is no completion for the shell "${shell}"`, {
        hint: `use one of ${SHELLS.join(', ')}`,
      });
  }
}

/** Longer paths first: further arguments must not hide them. */
function bySpecificity(table: readonly CompletionWords[]): readonly CompletionWords[] {
  return [...table].sort((a, b) => b.after.length - a.after.length);
}

function bashScript(table: readonly CompletionWords[]): string {
  const cases = bySpecificity(table).map(({ after, words }) => {
    const path = after.map((word) => ` ${word}`).join('');
    const pattern = after.length === 0 ? "''" : `'${path}'|'${path} '*`;
    return `    ${pattern}) words='${words.join(' ')}' ;;`;
  });
  return `# pointsman completion: eval "$(pointsman completion bash)"
_pointsman() {
  local current=\${COMP_WORDS[COMP_CWORD]} path= words= word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) ;; *) path="$path $word" ;; esac
  done
  case $path in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case \${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -o default -F _pointsman pointsman
`;
}

function fishScript(table: readonly CompletionWords[]): string {
  const lines = table.map(({ after, words }) => {
    const condition =
      after.length === 0
        ? '__fish_is_first_token'
        : after.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    return `complete -c pointsman -n '${condition}' -a '${words.join(' ')}'`;
  });
  return `# pointsman completion: pointsman completion fish | source\n${lines.join('\n')}\n`;
}
