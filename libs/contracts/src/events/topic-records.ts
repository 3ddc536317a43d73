import type { AccountEvent } from './account-event.js';
import type { AuditEntry } from './audit-entry.js';
import type { CatalogueEvent } from './catalogue-event.js';
import type { RejectionRecord } from './rejection-record.js';
import type { TOPIC } from './topics.js';
import type { UsageRecord } from './usage-record.js';

/** The class of `data` on each topic. */
export interface TopicRecords {
  [TOPIC.usage]: UsageRecord;
  [TOPIC.rejections]: RejectionRecord;
  [TOPIC.account]: AccountEvent;
  [TOPIC.audit]: AuditEntry;
  [TOPIC.catalogue]: CatalogueEvent;
}
