import { Injectable } from '@nestjs/common';
import type { PriceRecord, PriceStep } from '@gateway/contracts';
import { isoDay } from '../iso-day.js';
import { CatalogueDatabase } from '../postgres/catalogue-database.js';
import { scheduleView } from './prices-now.js';
import { pricing } from '../snapshots/catalogue-model.js';

/** More steps than the prices of a model take in years; the newest are answered. */
const STEPS_MAX = 1_000;

/** Every price that a model ever had, from the append-only table. */
@Injectable()
export class PriceHistory {
  constructor(private readonly database: CatalogueDatabase) {}

  /** Newest first. */
  async of(modelId: string): Promise<PriceStep[]> {
    const rows = await this.database.prisma.price.findMany({
      where: { model_id: modelId },
      orderBy: { id: 'desc' },
      take: STEPS_MAX,
    });
    return rows.map((row) => {
      const day = isoDay(row.effective_date);
      return {
        provider: row.provider,
        effective_date: day,
        pricing: pricing({ ...(row.record as PriceRecord), effective_date: day }),
        windows: scheduleView({ ...(row.record as PriceRecord), effective_date: day }),
        created_at: row.created_at.toISOString(),
      };
    });
  }
}
