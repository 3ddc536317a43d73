import { ArrayMaxSize, IsArray, IsString, Length } from 'class-validator';

const NAMES_MAX = 500;

/** Body of POST /internal/catalogue/unknown. */
export class CatalogueNamesBody {
  @IsArray()
  @ArrayMaxSize(NAMES_MAX)
  @IsString({ each: true })
  @Length(1, 224, { each: true })
  models!: string[];
  @IsArray()
  @ArrayMaxSize(NAMES_MAX)
  @IsString({ each: true })
  @Length(1, 224, { each: true })
  ids!: string[];
  @IsArray()
  @ArrayMaxSize(NAMES_MAX)
  @IsString({ each: true })
  @Length(1, 64, { each: true })
  providers!: string[];
}
