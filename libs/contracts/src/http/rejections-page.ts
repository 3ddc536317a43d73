import type { RefusedMoneyRecord } from '../events/rejection-record.js';

export interface RejectionView {
  request_id: string;
  created_at: string;
  endpoint: string;
  model: string | null;
  /** HTTP status. */
  status: number;
  code: string;
  message: string;
  scope: string | null;
  scope_id: string | null;
  /** Team of the scope team_member alone. */
  team_id: string | null;
  key_id: string;
  limit_type: string | null;
  /** Money behind the rejection; null for others and for rejections of earlier releases. */
  money: RefusedMoneyRecord | null;
  /** The budget that refused; null where none did. */
  budget_id: string | null;
  /** Rejections that the row stands for: a caller that hammers gets one row a second. */
  count: number;
}

export interface RejectionsPage {
  rejections: RejectionView[];
  /** Rejections, not rows: the sum of all counts. */
  total: number;
  limit: number;
  offset: number;
}
