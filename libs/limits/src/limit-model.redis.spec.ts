import { limitDrivers } from './conformance.fixture.js';
import { expectEqualsModel } from './limit-model.fixture.js';

const { drivers } = limitDrivers();
// A third of the runs of limit-model.drill.spec.ts.
const RUNS: Record<string, number> = { 'in process': 70, Redis: 20, 'Redis Cluster': 5 };

describe.each(drivers)('R08 $name', (driver) => {
  it('equals a naive model over random scopes, counters, windows, raises, lowers, settles, expiries, mirrors, crashes and flushes', () =>
    expectEqualsModel(driver, RUNS[driver.name]));
});
