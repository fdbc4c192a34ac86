// Which series a PromQL expression asks for. promtool says whether it is one; this only reads it.

export interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

export interface Reading {
  readonly selectors: readonly Selector[];
  /** Labels that by, without, on and ignoring name. */
  readonly labels: readonly string[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[a-zA-Z_:][\w:]*|\d[\w.]*|[=!]~|!=|\S/g;
const OPERATORS = new Set(['and', 'or', 'unless', 'bool', 'offset']);
const CLAUSES = new Set(['by', 'without', 'on', 'ignoring', 'group_left', 'group_right']);

export function readExpression(text: string): Reading {
  const tokens: readonly string[] = text.match(TOKEN) ?? [];
  const selectors: Selector[] = [];
  const labels: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? '';
    const next = tokens[at + 1];
    if (!/^[a-zA-Z_:]/.test(token) || OPERATORS.has(token)) continue;
    if (CLAUSES.has(token)) {
      const end = tokens.indexOf(')', at);
      labels.push(...tokens.slice(at + 2, end).filter((name) => name !== ','));
      at = end;
    } else if (next !== '(' && !CLAUSES.has(next ?? '')) {
      const end = next === '{' ? tokens.indexOf('}', at) : at;
      selectors.push({ metric: token, matchers: matchersOf(tokens.slice(at + 2, Math.max(at + 2, end))) });
      at = end;
    }
  }
  return { selectors, labels };
}

function matchersOf(tokens: readonly string[]): Matcher[] {
  const matchers: Matcher[] = [];
  for (let at = 0; at + 2 < tokens.length; at += 4) {
    const [label = '', operator = '', value = ''] = tokens.slice(at, at + 3);
    matchers.push({ label, operator, value: JSON.parse(value) });
  }
  return matchers;
}
