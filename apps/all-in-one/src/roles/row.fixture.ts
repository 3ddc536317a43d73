import type { Role, Scene } from './callers.fixture.js';
import type { Who } from './expected.fixture.js';
import type { Kind, Thing } from './things.fixture.js';

/** What a body may be made of. */
export interface Making {
  scene: Scene;
  role: Role;
  orgId: string;
  thing: Thing;
}

/** One endpoint of the table. */
export interface Row {
  who: Who;
  /** What one who is let in is answered; default 200. */
  status?: number;
  /** The thing that the path names. */
  thing?: Kind;
  /** Made anew for each caller who is let in, because the call ends it. */
  isFresh?: true;
  /** Where the organization is named. */
  org?: 'body' | 'query';
  body?: object | ((making: Making) => unknown);
  /** Parameters of the path that name no thing, and what stands behind `?`. */
  params?: Readonly<Record<string, string>>;
  query?: string;
}

export type Rows = Readonly<Record<string, Row>>;
