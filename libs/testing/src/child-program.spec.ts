import { startProgram } from './child-program.js';

const command = process.execPath;

describe('startProgram', () => {
  it('waits for the readiness line and hands out what it says', async () => {
    const script =
      'console.log("listening on http://a:1"); process.stdin.resume().on("end", () => process.exit(3))';
    const program = await startProgram({ command, args: ['-e', script], readyWhen: /listening on (\S+)\n/ });
    expect(program.ready[1]).toBe('http://a:1');
    program.endInput();
    expect(await program.ended).toBe(3);
  });

  it('knows a program that was ready and has ended', async () => {
    // It ends before its output is looked at for the first time but one.
    for (let n = 0; n < 5; n += 1) {
      const program = await startProgram({
        command,
        args: ['-e', 'console.log("ready")'],
        readyWhen: /ready/,
      });
      expect(await program.ended).toBe(0);
    }
  });

  it('kills with kill -9, also a program that ignores every other signal', async () => {
    const script = 'process.on("SIGTERM", () => {}); process.stdin.resume(); console.log("ready")';
    const program = await startProgram({ command, args: ['-e', script], readyWhen: /ready/ });
    program.signal('SIGTERM');
    await program.kill();
    expect(await program.ended).toBe('SIGKILL');
  });

  it('fails with the output of a program that ends before it is ready', async () => {
    const args = ['-e', 'console.error("no such database"); process.exit(1)'];
    await expect(startProgram({ command, args, readyWhen: /ready/ })).rejects.toThrow(
      /was not ready: no such database/,
    );
  });

  it('fails within its bound when the program never says so', async () => {
    const args = ['-e', 'process.stdin.resume()'];
    await expect(startProgram({ command, args, readyWhen: /ready/, timeoutMs: 300 })).rejects.toThrow(
      'was not ready',
    );
  });
});
