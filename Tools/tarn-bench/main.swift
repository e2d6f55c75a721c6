import Foundation
import ToolSupport

SignalTrap.setUp()
if CommandLine.arguments.dropFirst().first == BenchChild.word {
  BenchChild.run(Array(CommandLine.arguments.dropFirst(2)))
}
exit(BenchProgram.run().rawValue)
