import { Inject, Injectable, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { FileMailer } from './file-mailer.js';
import type { MailConfig } from './mail.config.js';
import { Mailer } from './mailer.js';
import { SmtpMailer } from './smtp-mailer.js';

@Injectable()
class MailShutdown implements OnApplicationShutdown {
  constructor(@Inject(Mailer) private readonly mailer: Mailer) {}

  onApplicationShutdown(): void {
    if (this.mailer instanceof SmtpMailer) this.mailer.close();
  }
}

/** Provides the Mailer to everybody. Needs the global PlatformModule. */
@Module({})
export class MailModule {
  static with({ SMTP_URL: url, MAIL_FROM: from, MAIL_DIR: folder }: Readonly<MailConfig>): DynamicModule {
    const useFactory = (clock: Clock): Mailer =>
      url === undefined ? new FileMailer(folder, clock) : new SmtpMailer({ url, from });
    return {
      module: MailModule,
      global: true,
      providers: [{ provide: Mailer, inject: [CLOCK], useFactory }, MailShutdown],
      exports: [Mailer],
    };
  }
}
