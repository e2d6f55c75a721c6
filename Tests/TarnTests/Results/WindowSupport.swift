@testable import Tarn

extension KennelView {
  /// Windows on results of collections.
  static var windows: [KennelView] {
    [
      KennelView(
        name: "list, a window", results: { $0.kennel.hounds.window(1..<4) },
        expected: { Array($0.kennel.hounds.dropFirst().prefix(3)) }),
      KennelView(
        name: "list, the first by age",
        results: { $0.kennel.hounds.sorted(by: \.age).limit(3) },
        expected: { Array($0.kennel.hounds.sorted { $0.age < $1.age }.prefix(3)) }),
      KennelView(
        name: "set, filtered, without the first",
        results: { $0.kennel.pack.offset(1).where { $0.age > 1 } },
        expected: { Array($0.kennel.pack.filter { $0.age > 1 }.dropFirst()) }),
      KennelView(
        name: "backlinks, a window of a window",
        results: { $0.yard(0)!.hounds.offset(1).window(1...2) },
        expected: { Array($0.yard(0)!.hounds.dropFirst(2).prefix(2)) }),
    ]
  }
}
