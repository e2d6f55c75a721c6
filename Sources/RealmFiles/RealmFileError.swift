/// Why a Realm file cannot be read.
public struct RealmFileError: Error, Equatable, Sendable {
  /// The kinds of errors.
  public enum Code: Equatable, Sendable {
    /// The system refuses to open or read the file.
    case unreadable
    /// The file is not a Realm file, or it is encrypted and no key was given.
    case notRealmFile
    /// The file has an older format than 20: open it once with an SDK of the years 2020 to 2024.
    case tooOld
    /// The file has a newer format than 24, or one that no release writes.
    case tooNew
    /// The key does not have 64 bytes, is not the file's, or the file is not encrypted.
    case wrongKey
    /// The file does not hold together: it is damaged, cut, or was written meanwhile.
    case damaged
  }

  /// The kind of error.
  public var code: Code
  /// A sentence for people, without the place.
  public var detail: String
  /// The part of the file in words, such as `class 'Dog', property 'age'`; empty if not known.
  public var place: String = ""
  /// The offset, in the decrypted file, of the array at which reading ended; nil if not known.
  public var offset: Int?

  package init(_ code: Code, _ detail: String, at offset: Int? = nil) {
    self.code = code
    self.detail = detail
    self.offset = offset
  }

  static func damaged(_ detail: String, at offset: Int? = nil) -> RealmFileError {
    RealmFileError(.damaged, detail, at: offset)
  }

  /// The same error in a part of the file; the outermost part comes first.
  package func within(_ outer: String) -> RealmFileError {
    var error = self
    error.place = place.isEmpty ? outer : "\(outer), \(place)"
    return error
  }
}

extension RealmFileError: CustomStringConvertible {
  public var description: String {
    let words = code == .damaged ? "the file is damaged: \(detail)" : detail
    let part = place.isEmpty ? "" : " (\(place))"
    return offset.map { "\(words)\(part), at offset \($0)" } ?? words + part
  }
}

/// Runs `body`, and adds the part of the file to its error.
package func within<R>(
  _ place: @autoclosure () -> String, _ body: () throws(RealmFileError) -> R
) throws(RealmFileError) -> R {
  do { return try body() } catch { throw error.within(place()) }
}
