import { relative, sep } from 'node:path';
import type { JournalAlarm } from '@gateway/journal';

/**
 * An alarm as fields that a log line may carry. A path stands as its parts below the folder of the journals: as a whole it has
 * the length and the look of a credential, and lines are scrubbed of those.
 */
export function alarmLine(alarm: JournalAlarm, folder: string): Record<string, string | number> {
  const { kind } = alarm;
  const line: Record<string, string | number> = { code: kind };
  const { path, message, code, kind: _kind, ...fields } = { path: null, message: null, code: null, ...alarm };
  if (path !== null) Object.assign(line, placeOf(relative(folder, path)));
  const reason = [code, message].filter((part) => part !== null).join(': ');
  if (reason !== '') line['reason'] = reason;
  return { ...fields, ...line };
}

/** `<producer>/<epoch>/<segment>`, or a folder of them. */
function placeOf(path: string): Record<string, string> {
  const names = ['producer', 'epoch', 'segment'];
  const parts = path.split(sep).map((part, at): [string, string] => [names[at] ?? 'segment', part]);
  return Object.fromEntries(parts);
}
