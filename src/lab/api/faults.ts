// Faults on purpose: how tests make the server misbehave, request by request.

/** What the server does wrong. `afterEvents` counts the lines of a watch, bookmarks included. */
export type Fault =
  /** Answers late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** Closes the connection without an answer. */
  | { readonly kind: 'drop' }
  /** Never answers, and keeps the connection. */
  | { readonly kind: 'hang' }
  | { readonly kind: 'fail'; readonly code: 410 | 429 | 500 | 503; readonly retryAfterSeconds?: number }
  /** Answers 200 with a text that is no JSON. */
  | { readonly kind: 'garbage'; readonly text?: string }
  /** Changes the text of the answer; of a watch, each line. */
  | { readonly kind: 'rewrite'; readonly rewrite: (text: string) => string }
  /** Closes the connection after so many bytes of the answer. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  /** Closes the connection of a watch. */
  | { readonly kind: 'cut'; readonly afterEvents: number }
  /** Ends a watch in order, as at its time-out. */
  | { readonly kind: 'end'; readonly afterEvents: number }
  /** Says nothing more in a watch, and keeps it open: a half-open connection. */
  | { readonly kind: 'mute'; readonly afterEvents: number }
  /** Ends a watch with an ERROR event 410. */
  | { readonly kind: 'expire'; readonly afterEvents: number }
  /** Puts a text of its own into a watch. */
  | { readonly kind: 'say'; readonly afterEvents: number; readonly text: string };

/** A request as rules and observers see it. */
export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Of a request for a resource. */
  readonly resource: string | undefined;
  readonly isWatch: boolean;
  readonly user: string;
}

export interface FaultRule {
  readonly match: (request: AskedRequest) => boolean;
  readonly fault: Fault;
  /** How often it strikes; always unless said otherwise. */
  readonly times?: number;
}

export interface Faults {
  /** Adds a rule; dispose what comes back to take it away. */
  add(rule: FaultRule): Disposable;
  clear(): void;
  /** What is to go wrong with a request: delays, and the first other fault. Counts as a strike of each. */
  strike(request: AskedRequest): readonly Fault[];
}

export function createFaults(): Faults {
  const rules = new Set<{ readonly rule: FaultRule; left: number }>();
  return {
    add(rule) {
      const entry = { rule, left: rule.times ?? Number.POSITIVE_INFINITY };
      rules.add(entry);
      return { [Symbol.dispose]: () => void rules.delete(entry) };
    },
    clear: () => rules.clear(),
    strike(request) {
      const faults: Fault[] = [];
      for (const entry of rules) {
        const { fault, match } = entry.rule;
        if (fault.kind !== 'delay' && faults.some(({ kind }) => kind !== 'delay')) continue;
        if (!match(request)) continue;
        faults.push(fault);
        entry.left -= 1;
        if (entry.left <= 0) rules.delete(entry);
      }
      return faults;
    },
  };
}
