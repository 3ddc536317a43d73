import type { Role, Scene } from './callers.fixture.js';
import type { Who } from './expected.fixture.js';
import type { Kind, Thing } from './things.fixture.js';

/** The things from which a body is made. */
export interface Making {
  scene: Scene;
  role: Role;
  orgId: string;
  thing: Thing;
}

/** One endpoint of the table. */
export interface Row {
  who: Who;
  /** Status for an admitted caller; default 200. */
  status?: number;
  /** The thing that the path names. */
  thing?: Kind;
  /** True if the thing is made anew for each admitted caller, because the call ends it. */
  isFresh?: true;
  /** Place in which the organization is named. */
  org?: 'body' | 'query';
  body?: object | ((making: Making) => unknown);
  /** Parameters of the path that name no thing, and what stands behind `?`. */
  params?: Readonly<Record<string, string>>;
  query?: string;
}

export type Rows = Readonly<Record<string, Row>>;
