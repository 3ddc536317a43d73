import { ArrayMaxSize, IsArray, IsString, Length } from 'class-validator';

const IDS_MAX = 500;

function Ids(): PropertyDecorator {
  const checks = [IsArray(), ArrayMaxSize(IDS_MAX), IsString({ each: true }), Length(1, 128, { each: true })];
  return (target, name) => checks.forEach((check) => check(target, name));
}

/** Body of POST /internal/directory/names. */
export class DirectoryNamesBody {
  @IsString() @Length(1, 128) account_id!: string;
  @Ids() keys!: string[];
  @Ids() users!: string[];
  @Ids() teams!: string[];
}

/** Body of POST /internal/directory/content-promises. */
export class ContentPromisesBody {
  @Ids() org_ids!: string[];
}
