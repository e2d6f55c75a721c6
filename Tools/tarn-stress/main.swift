import Foundation
import ToolSupport

FaultHooks.install()

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "worker" {
  do {
    try Worker(Array(arguments.dropFirst())).run()
    exit(ExitCode.success.rawValue)
  } catch {
    WorkerLine.bad("\(error)")
  }
}
do {
  if arguments.first == "damage" {
    exit(try DamageRun(DamageOptions.fromCommandLine()).run().rawValue)
  }
  if arguments.first == "power" {
    exit(try PowerRun(PowerOptions.fromCommandLine()).run().rawValue)
  }
  if arguments.first == "calls" {
    exit(try CallsRun(CallsOptions.fromCommandLine()).run().rawValue)
  }
  if arguments.first == "feed" {
    exit(try FeedRun(FeedOptions.fromCommandLine()).run().rawValue)
  }
  if arguments.first == "soak" {
    exit(try StoreSoak(SoakOptions.fromCommandLine()).run().rawValue)
  }
  if arguments.first == "soak-daemon" {
    exit(try DaemonSoak(DaemonSoakOptions.fromCommandLine()).run().rawValue)
  }
  exit(try StressRun(StressOptions.fromCommandLine()).run().rawValue)
} catch {
  FileHandle.standardError.write(Data("tarn-stress: \(error)\n".utf8))
  exit((error is UsageError ? ExitCode.usage : ExitCode.failure).rawValue)
}
