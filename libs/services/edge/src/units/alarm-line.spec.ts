import { Writable } from 'node:stream';
import type { JournalAlarm } from '@gateway/journal';
import { createLogger } from '@gateway/platform';
import { alarmLine } from './alarm-line.js';

const FOLDER = '/var/lib/gateway/journal-of-the-edges';
const EPOCH = '0mwuridqw-a4c2ed3e66d3111f';
const SEGMENT = `${FOLDER}/edge-1/${EPOCH}/00000001.log`;

/** Returns the log line of an alarm. */
function written(alarm: JournalAlarm): Record<string, unknown> {
  let text = '';
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      text += String(chunk);
      done();
    },
  });
  createLogger({ service: 'edge', level: 'info' }, sink).error(alarmLine(alarm, FOLDER), 'journal alarm');
  return JSON.parse(text) as Record<string, unknown>;
}

describe('the log line of a journal alarm', () => {
  it.each<[JournalAlarm, object]>([
    [
      { kind: 'bad_frame', path: SEGMENT, offset: 116_228, lostBytes: 1_101 },
      {
        code: 'bad_frame',
        producer: 'edge-1',
        epoch: EPOCH,
        segment: '00000001.log',
        offset: 116_228,
        lostBytes: 1_101,
      },
    ],
    [
      { kind: 'delete_failed', path: `${FOLDER}/edge-1/${EPOCH}`, message: 'EBUSY: busy' },
      { code: 'delete_failed', producer: 'edge-1', epoch: EPOCH, reason: 'EBUSY: busy' },
    ],
    [
      { kind: 'write_failed', code: 'ENOSPC', message: 'no space left on device' },
      { code: 'write_failed', reason: 'ENOSPC: no space left on device' },
    ],
    [
      { kind: 'full', usedBytes: 9, budgetBytes: 10 },
      { code: 'full', usedBytes: 9, budgetBytes: 10 },
    ],
    [
      { kind: 'sequence_gap', producer: 'edge-1', epoch: EPOCH, from: 7, to: 7 },
      { code: 'sequence_gap', producer: 'edge-1', epoch: EPOCH, from: 7, to: 7 },
    ],
  ])('names file, place and reason: %j', (alarm, fields) => {
    expect(written(alarm)).toMatchObject(fields);
  });
});
