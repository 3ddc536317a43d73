import type { AccountEvent } from './account-event.js';
import type { AuditEntry } from './audit-entry.js';
import type { CatalogueEvent } from './catalogue-event.js';
import type { RejectionRecord } from './rejection-record.js';
import type { TOPIC } from './topics.js';
import type { UsageRecord } from './usage-record.js';

/** The class of `data` on each topic, as it is read: a compact usage record is made whole. */
export interface TopicRecords {
  [TOPIC.usage]: UsageRecord;
  [TOPIC.usageV2]: UsageRecord;
  [TOPIC.rejections]: RejectionRecord;
  [TOPIC.account]: AccountEvent;
  [TOPIC.audit]: AuditEntry;
  [TOPIC.catalogue]: CatalogueEvent;
}
