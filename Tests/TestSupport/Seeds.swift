import Foundation

/// Which seeds a random test runs with. All of them take most of the tests' time, so `make test`
/// runs the first third; `TARN_SEEDS=all`, which `make test-release` sets, the rest as well.
package enum Seeds {
  private static let wantsAll = ProcessInfo.processInfo.environment["TARN_SEEDS"] == "all"

  package static func of<All: RandomAccessCollection>(_ all: All) -> [All.Element] {
    wantsAll ? Array(all) : Array(all.prefix((all.count + 2) / 3))
  }
}
