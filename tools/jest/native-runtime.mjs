// Jest's runtime, which loads specs with Node's own loader instead of a sandbox for each file: evaluating the same modules for
// each of 600 files took half of the suite's time. jest-light-runner does the same, but ends no test that hangs.
import { pathToFileURL } from 'node:url';
import Runtime from 'jest-runtime';
import { globals, sourceMaps } from './native-modules.mjs';

let runs = 0;

export default class NativeRuntime extends Runtime {
  /** Imports a spec, or a setup file. The query makes it and its fixtures new; what they test stays loaded. */
  async unstable_importModule(from) {
    if (from === this._testPath) this.shareGlobals();
    const url = pathToFileURL(from);
    runs += 1;
    url.search = `?run=${runs}`;
    await import(url.href);
  }

  getSourceMaps() {
    return sourceMaps;
  }

  /** Puts describe, it, expect and the like where modules outside Jest's sandbox see them. */
  shareGlobals() {
    const found = { jest: this.jestGlobals.jestObjectFor(this._testPath), ...this.jestGlobals.envGlobals() };
    globalThis[globals] = found;
    for (const [name, value] of Object.entries(found)) if (name !== 'jest') globalThis[name] = value;
  }
}
