#include "run/process_memory.hpp"
#include "support/paths.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

/// A root folder with as much of proc and sys as is looked at; the machine has 8,000 kB free.
class Machine {
  public:
    explicit Machine(const std::string& groups) {
        write("proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
        write("proc/self/cgroup", groups);
    }
    void write(const fs::path& path, const std::string& text) const {
        fs::create_directories((folder_ / path).parent_path());
        std::ofstream(folder_ / path) << text;
    }
    void group_1(const fs::path& path, const std::string& limit, const std::string& used) const {
        write("sys/fs/cgroup/memory" / path / "memory.limit_in_bytes", limit);
        write("sys/fs/cgroup/memory" / path / "memory.usage_in_bytes", used);
    }
    void group_2(const fs::path& path, const std::string& limit, const std::string& used) const {
        write("sys/fs/cgroup" / path / "memory.max", limit);
        write("sys/fs/cgroup" / path / "memory.current", used);
    }
    double available() const { return available_bytes(folder_.path()); }

  private:
    test::TemporaryFolder folder_;
};

TEST(AvailableMemory, IsThatOfTheMachineWhereNoGroupHasALimit) {
    EXPECT_EQ(Machine("").available(), 8000.0 * 1024.0);
    const Machine machine("0::/user\n");
    machine.group_2("user", "max", "1000");
    EXPECT_EQ(machine.available(), 8000.0 * 1024.0);
}

TEST(AvailableMemory, IsTheLeastOfAllGroupsAroundTheProcess) {
    const Machine machine("0::/slurm/job_7/step_0/task_0\n");
    machine.group_2("slurm", "7000000", "1000000");
    machine.group_2("slurm/job_7", "5000000", "3000000");
    machine.group_2("slurm/job_7/step_0", "4000000", "1000000");
    machine.group_2("slurm/job_7/step_0/task_0", "max", "1000000");
    machine.group_2("slurm/job_8", "10", "0");
    EXPECT_EQ(machine.available(), 2e6);
    machine.group_2("", "1500000", "1000000");
    EXPECT_EQ(machine.available(), 5e5) << "the group of a container";
}

TEST(AvailableMemory, SeesGroupsOfVersionOne) {
    const Machine machine("9:cpu,cpuacct:/elsewhere\n4:freezer,memory:/slurm/uid_1/job_7\n0::/\n");
    machine.group_1("slurm/uid_1", "3000000", "1000000");
    machine.group_1("slurm/uid_1/job_7", "9223372036854771712", "1000000");
    machine.group_1("elsewhere", "10", "0");
    EXPECT_EQ(machine.available(), 2e6);
}

TEST(AvailableMemory, CountsPagesOfFilesThatCanBeDroppedAsFree) {
    const Machine machine("0::/job\n");
    machine.group_2("job", "3000000", "2500000");
    machine.write("sys/fs/cgroup/job/memory.stat", "anon 1500000\ninactive_file 700000\n");
    EXPECT_EQ(machine.available(), 1.2e6);
    machine.group_2("job", "3000000", "4000000");
    EXPECT_EQ(machine.available(), 1.0) << "no less than a byte: 0 is not known";
}

TEST(AvailableMemory, OfAGroupThatIsNotShownIsThatOfThoseThatAre) {
    for (const char* path : {"/docker/a1b2", "/../../other", "/"}) {
        const Machine machine(std::string("0::") + path + "\n");
        machine.group_2("", "3000000", "1000000");
        EXPECT_EQ(machine.available(), 2e6) << path;
    }
}

} // namespace
} // namespace pnmf
