import Foundation
import Tarn
import TestSupport
import Testing

class ForkedCount: Object {
  @Persisted var number: Int
}

/// In processes of their own, because a fork of the test process would take its threads' locks
/// along.
@Suite struct ForkedRealmTests {
  /// What the parent has done with the library before it forks.
  enum Before: String, CaseIterable, Sendable, Codable {
    case configuration, opening, writing
  }

  @Test(arguments: Before.allCases)
  func `a forked child opens a store, and several threads write there`(before: Before) async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) {
      [said = said as KeptErrors, before = before as Before] in
      said.keep()
      let folder = TemporaryFolder()
      var configuration = Realm.Configuration.defaultConfiguration
      configuration.fileURL = URL(fileURLWithPath: folder.file("x.realm"))
      configuration.objectTypes = [ForkedCount.self]
      if before != .configuration {
        let realm = try Realm(configuration: configuration)
        if before == .writing { try realm.write { realm.add(ForkedCount()) } }
      }
      let code = Forked.run { [configuration] in
        Self.writeOnThreads(configuration) ? 0 : 1
      }
      precondition(code == 0, "the child ended with \(code)")
      let count = try Realm(configuration: configuration).objects(ForkedCount.self).count
      precondition(count == (before == .writing ? 101 : 100), "\(count) objects")
      withExtendedLifetime(folder) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  /// Four threads add 25 objects each.
  private static func writeOnThreads(_ configuration: Realm.Configuration) -> Bool {
    let done = DispatchSemaphore(value: 0)
    for _ in 1...4 {
      Thread {
        do {
          let realm = try Realm(configuration: configuration)
          for _ in 1...25 { try realm.write { realm.add(ForkedCount()) } }
          done.signal()
        } catch {
          fatalError("\(error)")
        }
      }.start()
    }
    return (1...4).allSatisfy { _ in done.wait(timeout: .now() + .seconds(300)) == .success }
  }
}
