import { startProgram } from '../child-program.js';
import { Reaper } from './reaper.js';

const sleeper = {
  command: process.execPath,
  args: ['-e', 'console.log("up"); setInterval(() => {}, 1000)'],
  readyWhen: /up/,
};

describe('Reaper', () => {
  it('ends at the end of its input what it was given, and nothing that was taken back', async () => {
    const reaper = new Reaper();
    const [watched, forgotten] = await Promise.all([startProgram(sleeper), startProgram(sleeper)]);
    reaper.watch(watched.pid);
    reaper.watch(forgotten.pid);
    reaper.forget(forgotten.pid);
    reaper.end();
    expect(await watched.ended).toBe('SIGKILL');
    forgotten.signal('SIGTERM');
    expect(await forgotten.ended).toBe('SIGTERM');
  });
});
