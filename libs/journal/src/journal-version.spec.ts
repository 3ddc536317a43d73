import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodeFrame } from './frame.js';
import { abandon, crashRecord, intentFor, openJournal, usage, withFolder } from './journal.fixture.js';
import { beginJson } from './records.js';

const USAGE = 'gateway.usage.v1';

describe('the version of a journal', () => {
  it('operations 3: leaves what a later release wrote as it is, with a sentence, and takes over all else', () =>
    withFolder(async (dir) => {
      const [newer, known] = [
        await openJournal(dir, { producer: 'edge-8' }),
        await openJournal(dir, { producer: 'edge-9' }),
      ];
      for (const { journal } of [newer, known]) {
        journal.outcome(USAGE, 'acct_1', usage(1));
        journal.intent(intentFor(2));
        await abandon(journal);
      }
      const folder = join(dir, 'edge-8', newer.journal.epoch);
      const path = join(folder, readdirSync(folder)[0]);
      writeFileSync(path, Buffer.concat([encodeFrame(beginJson(3)), readFileSync(path)]));
      const written = readFileSync(path);
      const { journal } = await openJournal(dir);
      const refusal =
        'A segment of the journal has version 3, and this release reads versions 1 and 2. Start the release';
      const recovered = journal.recover((open) => crashRecord(open));
      await expect(recovered).rejects.toThrow(refusal);
      // A start prints the sentence of an error with a code, and no stack.
      await expect(recovered).rejects.toMatchObject({ code: 'JOURNAL_VERSION' });
      expect(journal.stats()).toMatchObject({ takenOverEpochs: 1, seq: 1 });
      await expect(journal.recover((open) => crashRecord(open))).rejects.toThrow(refusal);
      expect(journal.stats()).toMatchObject({ takenOverEpochs: 1, seq: 1 });
      expect(readFileSync(path)).toEqual(written);
      await journal.close();
    }));

  it('operations 3: reads a segment of a release that wrote no version', () =>
    withFolder(async (dir) => {
      const dead = await openJournal(dir);
      dead.journal.intent(intentFor(1));
      dead.journal.outcome(USAGE, 'acct_1', usage(1));
      dead.journal.intent(intentFor(2));
      await abandon(dead.journal);
      const folder = join(dir, 'edge-0', dead.journal.epoch);
      const path = join(folder, readdirSync(folder)[0]);
      const begin = encodeFrame(beginJson(1));
      const written = readFileSync(path);
      expect(written.subarray(0, begin.length)).toEqual(begin);
      writeFileSync(path, written.subarray(begin.length));
      const { journal } = await openJournal(dir);
      expect(await journal.recover((open) => crashRecord(open))).toMatchObject({
        crashed: 1,
        epochs: [{ lastSeq: 1 }],
      });
      await journal.close();
    }));
});
