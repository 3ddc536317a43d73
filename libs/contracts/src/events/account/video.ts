import { IsIn, IsString } from 'class-validator';

class VideoFields {
  @IsString() task_id!: string;
  @IsString() model!: string;
  @IsString() provider!: string;
}

/** A video task finishes and its output is ready. */
export class VideoCompleted extends VideoFields {
  @IsIn(['completed']) status!: 'completed';
  @IsString() video_url!: string;
  @IsIn([null]) error_code!: null;
  @IsIn([null]) error_message!: null;
}

/** A video task fails. */
export class VideoFailed extends VideoFields {
  @IsIn(['failed']) status!: 'failed';
  @IsIn([null]) video_url!: null;
  @IsString() error_code!: string;
  @IsString() error_message!: string;
}
