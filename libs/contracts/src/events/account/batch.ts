import { IsIn, IsString } from 'class-validator';

class BatchFields {
  @IsString() batch_id!: string;
  @IsString() model!: string;
  @IsString() provider!: string;
}

/** A batch finishes successfully. */
export class BatchCompleted extends BatchFields {
  @IsIn(['completed']) status!: 'completed';
  @IsString() output_file_id!: string;
}

/** A batch fails or expires; one that is cancelled does not fire it. */
export class BatchFailed extends BatchFields {
  @IsIn(['failed', 'expired']) status!: 'failed' | 'expired';
  @IsIn([null]) output_file_id!: null;
}
