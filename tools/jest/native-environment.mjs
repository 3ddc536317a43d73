// The environment of specs that Node's own loader loads: fake timers and `process.env` are the worker's.
import { LegacyFakeTimers, ModernFakeTimers } from '@jest/fake-timers';
import { TestEnvironment } from 'jest-environment-node';

/** Names of the classes that the language itself has. */
const CLASSES = Object.getOwnPropertyNames(globalThis).filter(
  (name) =>
    /^[A-Z]/.test(name) && typeof Object.getOwnPropertyDescriptor(globalThis, name).value === 'function',
);

export default class NativeEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const { projectConfig } = config;
    const settings = { config: projectConfig, global: globalThis };
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    this.fakeTimersModern = new ModernFakeTimers(settings);
    this.fakeTimers = new LegacyFakeTimers({
      ...settings,
      moduleMocker: this.moduleMocker,
      timerConfig: { idToRef: (id) => id, refToId: (timer) => timer },
    });
    // Jest's own modules run in the sandbox: `expect.any(String)` and what a matcher throws name the spec's classes.
    for (const name of CLASSES) this.global[name] = globalThis[name];
    this.environmentBefore = { ...process.env };
  }

  async teardown() {
    for (const name of Object.keys(process.env))
      if (!(name in this.environmentBefore)) delete process.env[name];
    Object.assign(process.env, this.environmentBefore);
    await super.teardown();
  }
}
