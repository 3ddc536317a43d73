import { IsBoolean, IsOptional, IsString, Length, Matches, ValidateIf } from 'class-validator';
import { IsAddress, IsWritableFolder, OrFile, ToBoolean } from '@gateway/platform';

/** Settings of the store for files of callers and results of models. */
export class ObjectStoreConfig {
  /** Folder for them where no bucket is named. Processes on several machines need a bucket. */
  @ValidateIf(({ S3_BUCKET }: ObjectStoreConfig) => S3_BUCKET === undefined)
  @IsString()
  @Length(1, 1_000)
  @IsWritableFolder()
  OBJECT_STORE_DIR: string = '.data/objects';
  /** Address at which callers reach the gateway: links to objects in the folder begin with it. */
  @IsAddress('http', 'https') OBJECT_STORE_PUBLIC_URL: string = 'http://127.0.0.1:8080';
  /** Bucket of an S3 store; absent = the folder. */
  @IsOptional() @Matches(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/) S3_BUCKET?: string;
  @Matches(/^[a-z0-9-]{1,64}$/) S3_REGION: string = 'us-east-1';
  /** Endpoint of a store other than Amazon's. */
  @IsOptional() @IsAddress('http', 'https') S3_ENDPOINT?: string;
  /** The bucket stands in the path of an address, not in its host. */
  @ToBoolean() @IsBoolean() S3_PATH_STYLE: boolean = false;
  /** Absent = what the machine has, by the usual chain of the AWS SDK. */
  @IsOptional() @IsString() S3_ACCESS_KEY_ID?: string;
  @OrFile() @IsOptional() @IsString() S3_SECRET_ACCESS_KEY?: string;
}
