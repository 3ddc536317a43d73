import { readFileSync } from 'node:fs';
import type { LedgerOperator } from '@gateway/usage';
import { readFlags } from '@gateway/platform/flags';
import { replay } from './replay-topic.js';
import type { TopicLetters } from './topic-letters.js';

export const USAGE = `usage: npm run ledger -- dead-letters
       npm run ledger -- apply DIGEST|LETTER [--value FILE]
       npm run ledger -- close DIGEST --reason TEXT
       npm run ledger -- give-up PRODUCER EPOCH [--through NUMBER] [--yes --reason TEXT]
       npm run ledger -- replay FILE [--cursor FILE]
       npm run ledger -- partition [--yes]
       npm run ledger -- narrow [--yes]

dead-letters  the newest records that could not be applied: those of the ledger, and with KAFKA_BROKERS those of every other
              service, whose names begin with the service
apply         applies one after all, as it was or as FILE corrects it: a CloudEvent in JSON. One of another service is sent to
              its topic again: every consumer reads it, and each knows what it has applied
close         says that one holds nothing to bill: the proof of the books names it no more
give-up       names the missing numbers of a producer's epoch; with --yes they count as applied from then on.
              --through: the numbers up to there are missing as well, of a producer that is gone
replay        applies the records of a topic from FILE, one CloudEvent a line; each unit counts once. --cursor: notes how
              far it is, and goes on there when it is started again
partition     says how usage_event becomes partitions by month, with what each statement locks; with --yes it does so.
              Releases before this one do not run on partitions
narrow        says what it takes that events are stored as one text in place of four columns of JSON; with --yes it is so from the next
              start of each usage process on. Releases before this one do not read such events
`;

const FLAGS = {
  value: { type: 'string' },
  through: { type: 'string' },
  reason: { type: 'string' },
  cursor: { type: 'string' },
  yes: { type: 'boolean', default: false },
} as const;

type Operator = Pick<
  LedgerOperator,
  | 'apply'
  | 'deadLetters'
  | 'applyDeadLetter'
  | 'closeDeadLetter'
  | 'missingRanges'
  | 'giveUp'
  | 'partition'
  | 'narrow'
>;

/** A command with its flags. `--help`, and what is not known, end the process. */
export function readWords(words: readonly string[]): ReturnType<typeof readFlags<typeof FLAGS>> {
  return readFlags(USAGE, FLAGS, { args: [...words], takesWords: true });
}

/** Runs one command. Answers its exit code: 2 for words that are no command. Throws what the ledger says. */
export async function runCommand(
  words: readonly string[],
  operator: Operator,
  print: (line: string) => void,
  letters: Pick<TopicLetters, 'list' | 'sendAgain'> | null = null,
): Promise<number> {
  const { values, positionals } = readWords(words);
  const [command, first, second] = positionals;
  if (command === 'dead-letters') {
    for (const letter of await operator.deadLetters()) print(lineOf(letter));
    for (const { id, at, key, reason } of (await letters?.list()) ?? [])
      print(`${id}  ${at}  ${key || '-'}  ${reason}`);
    return 0;
  }
  if (command === 'apply' && first !== undefined) {
    const value = values.value === undefined ? null : readFileSync(values.value, 'utf8');
    if (first.includes(':')) {
      if (letters === null)
        throw new Error('KAFKA_BROKERS is not set: a letter of another service is in Kafka.');
      print(`sent to ${await letters.sendAgain(first, value)} again`);
      return 0;
    }
    const { isNew } = await operator.applyDeadLetter(first, value);
    print(isNew ? 'applied' : 'nothing to apply: its unit is in already');
    return 0;
  }
  if (command === 'close' && first !== undefined && values.reason) {
    await operator.closeDeadLetter(first, values.reason);
    print('closed');
    return 0;
  }
  if (command === 'replay' && first !== undefined) {
    await replay(first, values.cursor ?? null, operator, print);
    return 0;
  }
  if (command === 'partition' || command === 'narrow') {
    await operator[command]({ isDone: values.yes, print });
    return 0;
  }
  const through = values.through === undefined ? 0 : Number(values.through);
  const isGiveUp =
    command === 'give-up' && second !== undefined && Number.isSafeInteger(through) && through >= 0;
  if (!isGiveUp || (values.yes && !values.reason)) {
    print(USAGE);
    return 2;
  }
  const epoch = { producer: first, epoch: second, through };
  const ranges = values.yes
    ? await operator.giveUp({ ...epoch, reason: values.reason ?? '' })
    : await operator.missingRanges(epoch);
  for (const range of ranges) print(`${range.first} to ${range.last}`);
  if (ranges.length === 0) print('nothing is missing');
  else print(values.yes ? 'given up' : 'nothing was changed: add --yes --reason TEXT to give these up');
  return 0;
}

function lineOf(letter: Awaited<ReturnType<Operator['deadLetters']>>[number]): string {
  const { digest, topic, account_id, applied_at, closed_at, closed_reason } = letter;
  let state = 'open';
  if (closed_at !== null) state = `closed ${closed_at.toISOString()} (${closed_reason})`;
  if (applied_at !== null) state = `applied ${applied_at.toISOString()}`;
  const at = letter.created_at.toISOString();
  return `${digest}  ${at}  ${topic}  ${account_id ?? '-'}  ${state}  ${letter.reason}`;
}
