import { limitDrivers } from './conformance.fixture.js';
import { expectEqualsModel } from './limit-model.fixture.js';

const { drivers } = limitDrivers();
const RUNS: Record<string, number> = { 'in process': 200, Redis: 60, 'Redis Cluster': 15 };

describe.each(drivers)('R08 $name', (driver) => {
  it('equals a naive model over random scopes, counters, windows, raises, lowers, settles, expiries, mirrors, crashes and flushes', () =>
    expectEqualsModel(driver, RUNS[driver.name]));
});
