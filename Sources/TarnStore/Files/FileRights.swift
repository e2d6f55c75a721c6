/// Whose a file is, and what others may do with it.
struct FileRights: Equatable {
  let owner: UInt32
  let group: UInt32
  /// Permission bits.
  let mode: UInt32
}

extension FileRights {
  /// Why a file beside data with these rights must not be used as its companion; nil if it may.
  ///
  /// Whoever may write a companion can end every process that uses it, or worse, by what he writes
  /// into its mapping. So its owner is somebody who may write the data anyway, or the user who
  /// asks, or root; and a class of users may write it only if it may read the data.
  ///
  /// - Parameters:
  ///   - folder: of both.
  ///   - user: who asks.
  func objection(to companion: FileRights, in folder: FileRights, user: UInt32) -> String? {
    let isTrusted = [owner, 0, user].contains(companion.owner)
    if !isTrusted, mode & 0o002 == 0, !isMember(ownerOf: companion, folder) {
      return "it belongs to user \(companion.owner), who cannot write the data"
    }
    if companion.mode & 0o002 != 0, mode & 0o004 == 0 {
      return "all users can write it, but not all can read the data"
    }
    let reads: UInt32 = companion.group == group ? 0o040 : 0o004
    if companion.mode & 0o020 != 0, mode & reads == 0 {
      return "group \(companion.group) can write it, but cannot read the data"
    }
    return nil
  }

  /// May the companion's owner write the data as a member of its group? Only a member can give a
  /// file that group, except in a folder that gives its own, to which anybody may add files.
  private func isMember(ownerOf companion: FileRights, _ folder: FileRights) -> Bool {
    let isGiven = folder.group == group && folder.mode & 0o002 != 0
    return mode & 0o020 != 0 && companion.group == group && !isGiven
  }

  /// The permissions of a companion of this file. The owner may always write it: one who looks at a
  /// store that is write-protected locks there too. Who may write it may read the data.
  ///
  /// - Parameter given: the group that the companion got. If it is another one than the data's, it
  ///   gets nothing of what the data's may.
  func companionMode(group given: UInt32) -> UInt32 {
    var wanted = (mode | 0o600) & (given == group ? 0o666 : 0o606)
    for readBit in [0o040, 0o004] as [UInt32] where wanted & readBit == 0 {
      wanted &= ~(readBit >> 1)
    }
    return wanted
  }

  /// True if the owner of this file may write that one.
  func ownerMayWrite(_ companion: FileRights) -> Bool {
    if companion.owner == owner || companion.mode & 0o002 != 0 { return true }
    return companion.group == group && companion.mode & 0o020 != 0
  }
}

extension FileFacts {
  var rights: FileRights { FileRights(owner: owner, group: group, mode: mode) }
}
