import Foundation

@testable import Tarn

extension Shelter {
  /// A file whose commits wait for the disk, or do not.
  convenience init(_ durability: Realm.Configuration.Durability) throws {
    try self.init()
    self.durability = durability
    moreTypes = [Hoard.self]
  }
}

/// Something of every kind that is kept in its own way.
final class Hoard: Object {
  @Persisted(primaryKey: true) var id = 0
  @Persisted var numbers: List<Int>
  @Persisted var words: MutableSet<String>
  @Persisted var ages: Map<String, Int>
  @Persisted var cats: List<Cat>
  @Persisted var long = ""
  @Persisted var anything: AnyRealmValue
  @Persisted var next: Hoard?
  @Persisted(originProperty: "next") var before: LinkingObjects<Hoard>
}

extension Instance {
  /// Lets commits that allow grouping share a transaction however slow the machine is.
  func groupWhatIsQueued() {
    realm.core.asyncWritesToUse("group commits").groupDuration = .seconds(600)
  }

  /// Takes turns until nothing is queued or on its way.
  func finish() {
    pump()
    while realm.isPerformingAsynchronousWriteOperations {
      scheduler.wait(timeout: 10)
      pump()
    }
  }
}
