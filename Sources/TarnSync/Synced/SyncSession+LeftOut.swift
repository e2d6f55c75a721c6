import Tarn
import TarnStore

extension SyncSession {
  /// A value of the server that the file does not have, because its property cannot hold it.
  public struct LeftOutValue: Hashable, Sendable {
    /// The class of the object.
    public let className: String
    /// The object's primary key as text.
    public let primaryKey: String
    /// The property, with the position of the value in it: `tags[3]`.
    public let property: String
    /// Why the property cannot hold it.
    public let reason: String
    /// Whether the whole object is left out.
    public let isWholeObject: Bool
  }

  /// The values of the server that the file does not have, because their properties cannot hold
  /// them. They arrive once they have been corrected on the server; until then their properties
  /// cannot be changed here.
  ///
  /// - Throws: `Realm.Error` if the file cannot be read.
  public var leftOutValues: [LeftOutValue] {
    get throws {
      do {
        return try TarnSync.LeftOutValue.all(in: store.newestSnapshot()).map {
          LeftOutValue(
            className: $0.className, primaryKey: $0.primaryKey, property: $0.property,
            reason: $0.reason, isWholeObject: $0.isWhole)
        }
      } catch {
        throw Realm.Error(synchronizing: error)
      }
    }
  }
}
