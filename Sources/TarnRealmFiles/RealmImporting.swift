public import Foundation
public import RealmFiles
import Tarn
import TarnStore

/// How far an import is.
public struct RealmImportProgress: Sendable {
  /// The number of objects that were read, without embedded ones.
  public let objects: Int
  /// The number of objects of the file, without embedded ones.
  public let objectCount: Int
}

/// The result of an import.
public struct RealmImportReport: Sendable {
  /// The number of classes in the store.
  public let classCount: Int
  /// The number of objects, without embedded ones.
  public let objectCount: Int
  /// Sentences on everything that the store does not have, or has otherwise than the file. Empty if
  /// all of it was carried over.
  public let notes: [String]
}

/// Why a Realm file cannot be imported: its kind, and the place of the damage.
public typealias RealmFileError = RealmFiles.RealmFileError

extension RealmFiles.RealmFileError: LocalizedError {
  /// The description, as `localizedDescription` returns it.
  public var errorDescription: String? { description }
}

/// Makes a store of a database file that an SDK of Realm has written.
///
/// The store has the classes of the file with their properties, primary keys, indexes and schema
/// version, and all objects with their values, links, embedded objects and collections. Classes
/// declared as in the former program open it: `tarn schema --swift` prints them. Formats from 20 to
/// 24 are read, which Realm's SDKs write since 2020. <doc:FromRealmFiles> says how types correspond
/// and what is not carried over.
///
/// The file is only read. If a program has it open, import a copy. The store appears at its path
/// when it is complete and synced to the disk, or not at all; meanwhile a folder beside it has the
/// objects, which the next import to the same path removes if the process is killed.
///
/// The function blocks its thread. Memory does not grow with the number of objects: it holds those
/// of one transaction, and the largest list.
///
/// - Parameters:
///   - source: the Realm file.
///   - destination: the new store. An existing file is not replaced.
///   - encryptionKey: the 64 bytes of the key of an encrypted file. The store is not encrypted.
///   - progress: called on this thread from time to time; an error that it throws ends the import.
/// - Returns: what was imported, and what was not.
/// - Throws: `RealmFileError` if the file cannot be read, is too old or too new, needs another key
///   or is damaged. `Realm.Error.fileExists`; `.fileNotFound` for a missing folder;
///   `.filePermissionDenied`, `.outOfDiskSpace`, `.fileOperationFailed`; `.invalidInput` for values
///   that a store cannot hold.
@discardableResult
public func importRealmFile(
  at source: URL, into destination: URL, encryptionKey: Data? = nil,
  progress: (RealmImportProgress) throws -> Void = { _ in }
) throws -> RealmImportReport {
  do {
    let realmImport = try RealmImport(
      source.path, into: destination.path, key: encryptionKey.map { Array($0) })
    return try realmImport.run(progress)
  } catch let error as StorageError {
    throw Realm.Error(synchronizing: error)
  }
}
