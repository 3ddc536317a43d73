import { SystemClock } from '@gateway/platform';
import { PaymentsApp } from './payments.fixture.js';

/** The service that the parts of payments.http.spec.ts share; each empties it before each test. */
export const on = await PaymentsApp.start(() => new SystemClock().now());
afterAll(() => on.close());
beforeEach(() => on.empty());
