import type { DialectName } from '@gateway/contracts';
import { chatDialect } from './chat/chat-dialect.js';
import type { Dialect } from './dialect.js';
import { messagesDialect } from './messages/messages-dialect.js';

/** Every dialect this release speaks, by name. */
export const DIALECTS: ReadonlyMap<DialectName, Dialect> = new Map(
  [chatDialect, messagesDialect].map((dialect) => [dialect.name, dialect]),
);
