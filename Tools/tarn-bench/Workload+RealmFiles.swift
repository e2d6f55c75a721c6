import Foundation
import RealmFileWriter
import TarnRealmFiles
import ToolSupport

/// W19: imports a Realm file of a class with eight properties and a link; the baseline is W1 of the
/// same run. W19m: the memory of another import above that before it.
func measureRealmImport(_ bench: Bench) throws {
  let source = URL(fileURLWithPath: bench.folder + "/items.realm")
  try ItemFile.write(to: source.path, count: bench.objects)
  var number = 0
  func run() throws {
    number += 1
    let destination = URL(fileURLWithPath: "\(bench.folder)/imported\(number).tarn")
    let report = try importRealmFile(at: source, into: destination)
    guard report.objectCount == bench.objects else { throw ToolError("W19: objects are missing") }
    try FileManager.default.removeItem(at: destination)
  }
  let seconds = try bench.alternate(rounds: 3, [{ try benchTime(run) }])[0]
  let grown = try MemoryPeak.grown(run)
  let inserted = try bench.stores().insertSeconds[0]
  bench.add(
    BenchFigure(
      "W19", "import \(amount(bench.objects)) objects of a Realm file; baseline: W1", .perSecond,
      ours: Double(bench.objects) / seconds, floor: Double(bench.objects) / inserted,
      target: .value(500_000)))
  bench.add(BenchFigure("W19m", "memory of that import", .bytes, ours: grown))
}
