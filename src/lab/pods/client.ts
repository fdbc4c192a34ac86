// The lab's client: requests from any namespace of the lab, all from this process, thousands in a second.
import { createSocket } from 'node:dgram';
import { udpSocketIn } from '../../kernel/netns.ts';
import type { Sys } from '../../kernel/sys/sys.ts';
import { familyOf } from '../../model/address.ts';
import { type Answer, answerOf, type Failure, type Target } from './answer.ts';
import { failureKind } from './client-failure.ts';
import { converse } from './tcp-conversation.ts';

export interface Question extends Target {
  /** TCP asks by HTTP. */
  readonly protocol: 'TCP' | 'UDP';
  /** Lets the server wait before it answers. */
  readonly sleepSeconds?: number;
  readonly timeoutMs?: number;
}

/** A connection that stays open, to see what becomes of it. */
export interface OpenConnection extends Disposable {
  /** The first answer. */
  readonly first: Answer;
  /** Asks again over the same connection. */
  ask(options?: { readonly sleepSeconds?: number; readonly timeoutMs?: number }): Promise<Answer>;
}

/**
 * Answers are values, failures too. Only what the lab got wrong itself throws (E_SYSCALL): a namespace that is not
 * there, a source address that is not the namespace's, no descriptors left.
 */
export interface Client {
  /** One request over a connection (or socket) of its own. */
  ask(question: Question): Promise<Answer>;
  /** Many, `atOnce` at a time; the answers in the order of the questions. */
  askAll(questions: Iterable<Question>, options?: { readonly atOnce?: number }): Promise<readonly Answer[]>;
  /** The same question `count` times. */
  askTimes(
    count: number,
    question: Question,
    options?: { readonly atOnce?: number },
  ): Promise<readonly Answer[]>;
  /** A TCP connection that stays open until it is disposed. */
  open(target: Target & { readonly timeoutMs?: number }): Promise<OpenConnection>;
}

/** On one machine an answer takes well under a millisecond, also when it is busy. */
const TIMEOUT_MS = 3000;
const AT_ONCE = 200;

const query = (sleepSeconds: number | undefined): string =>
  sleepSeconds === undefined ? '' : `sleep=${sleepSeconds}`;
const path = (sleepSeconds: number | undefined): string => `/?${query(sleepSeconds)}`;

export function createClient(sys: Sys): Client {
  const ask = async (question: Question): Promise<Answer> => {
    const { protocol, sleepSeconds, timeoutMs = TIMEOUT_MS } = question;
    if (protocol === 'UDP') return askByDatagram(sys, question, query(sleepSeconds), timeoutMs);
    const conversation = converse(sys, question);
    const answer = await conversation.ask(path(sleepSeconds), timeoutMs);
    conversation.close();
    return answer;
  };
  const askAll: Client['askAll'] = async (questions, { atOnce = AT_ONCE } = {}) => {
    const answers: Answer[] = [];
    const queue = [...questions].entries();
    const worker = async (): Promise<void> => {
      for (const [index, question] of queue) answers[index] = await ask(question);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    return answers;
  };
  return {
    ask,
    askAll,
    askTimes: (count, question, options) => askAll(new Array<Question>(count).fill(question), options),
    async open({ timeoutMs = TIMEOUT_MS, ...target }) {
      const conversation = converse(sys, target);
      return {
        first: await conversation.ask(path(undefined), timeoutMs),
        ask: (options = {}) => conversation.ask(path(options.sleepSeconds), options.timeoutMs ?? TIMEOUT_MS),
        [Symbol.dispose]: () => conversation.close(),
      };
    },
  };
}

/** The socket is connected, so that a refusal by ICMP comes back to it; the client's own kernel says EPERM on sending. */
function askByDatagram(sys: Sys, target: Target, text: string, timeoutMs: number): Promise<Answer> {
  const { namespace, source, address, port } = target;
  const six = familyOf(address) === 'IPv6';
  const fd = udpSocketIn(sys, {
    address: source?.address ?? (six ? '::' : '0.0.0.0'),
    port: source?.port ?? 0,
    ...(namespace !== undefined && { namespace }),
  });
  const socket = createSocket(six ? 'udp6' : 'udp4');
  const begun = performance.now();
  return new Promise((resolve) => {
    const finish = (answer: Answer): void => {
      clearTimeout(timer);
      socket.removeAllListeners();
      // What still comes is for nobody.
      socket.on('error', () => {});
      socket.close();
      resolve(answer);
    };
    const fail = (how: Failure['how'], detail: string): void =>
      finish({ kind: 'failed', how, detail, ms: performance.now() - begun });
    const timer = setTimeout(() => fail('timeout', `no answer in ${timeoutMs} ms`), timeoutMs);
    socket.once('error', (error) => fail(failureKind(error), error.message));
    socket.once('message', (message) =>
      finish(answerOf(message.toString('utf8'), performance.now() - begun)),
    );
    socket.bind({ fd });
    socket.connect(port, address, () => {
      socket.send(text, (error) => {
        if (error) fail(failureKind(error), error.message);
      });
    });
  });
}
