import Testing

@testable import TarnStore

@Suite struct FileRightsTests {
  private func isUsed(
    _ owner: UInt32, _ group: UInt32, _ mode: UInt32, by user: UInt32 = 1,
    dataMode: UInt32, folder: FileRights = FileRights(owner: 0, group: 0, mode: 0o777)
  ) -> Bool {
    FileRights(owner: 1, group: 10, mode: dataMode).objection(
      to: FileRights(owner: owner, group: group, mode: mode), in: folder, user: user) == nil
  }

  @Test func `a companion belongs to somebody who may write the data, to root, or to oneself`() {
    #expect(isUsed(1, 10, 0o600, dataMode: 0o600))
    #expect(isUsed(0, 0, 0o600, dataMode: 0o600))
    #expect(isUsed(5, 10, 0o600, by: 5, dataMode: 0o644))
    #expect(!isUsed(5, 10, 0o600, dataMode: 0o644))
    #expect(isUsed(5, 10, 0o660, dataMode: 0o660))
    #expect(!isUsed(5, 50, 0o660, dataMode: 0o660))
    #expect(isUsed(5, 50, 0o606, dataMode: 0o606))
  }

  @Test func `a folder that gives its group to strangers' files says nothing of their groups`() {
    let folder = FileRights(owner: 0, group: 10, mode: 0o777)
    #expect(!isUsed(5, 10, 0o660, dataMode: 0o660, folder: folder))
    let closed = FileRights(owner: 0, group: 10, mode: 0o775)
    #expect(isUsed(5, 10, 0o660, dataMode: 0o660, folder: closed))
  }

  @Test func `who may write a companion may read the data`() {
    #expect(!isUsed(1, 10, 0o602, dataMode: 0o600))
    #expect(isUsed(1, 10, 0o602, dataMode: 0o604))
    #expect(!isUsed(1, 10, 0o620, dataMode: 0o604))
    #expect(isUsed(1, 10, 0o620, dataMode: 0o640))
    #expect(!isUsed(1, 50, 0o620, dataMode: 0o640))
    #expect(isUsed(1, 50, 0o620, dataMode: 0o644))
    #expect(isUsed(1, 10, 0o600, dataMode: 0o400))
  }

  @Test(arguments: [0o400, 0o440, 0o600, 0o620, 0o640, 0o644, 0o660, 0o664, 0o666, 0o622, 0o602])
  func `what is made for data is used beside it`(_ mode: UInt32) {
    let data = FileRights(owner: 1, group: 10, mode: mode)
    for group in [10, 50] as [UInt32] {
      let made = data.companionMode(group: group)
      #expect(made & 0o600 == 0o600)
      #expect(made & ~(mode | 0o600) == 0)
      #expect(isUsed(1, group, made, dataMode: mode), "\(String(made, radix: 8))")
    }
  }
}
